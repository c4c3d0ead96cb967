"""Any endpoint that speaks OpenAI's chat completions: hosted models, Ollama, llama.cpp, vLLM, LM Studio.

The package ``openai`` (extra ``graphctx[llm]``) retries with backoff, obeys Retry-After and keeps connections; what it
returns is validated here, since it validates nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, ValidationError

from graphctx.errors import InvalidArgument
from graphctx.model.ids import fingerprint
from graphctx.nlp.llm.base import Chat, ChatFailed, ChatModel, Completion, Message
from graphctx.settings import LlmSettings

if TYPE_CHECKING:
    import openai

SEED = 20_250_101
"""Sent with temperature 0: endpoints that sample on equal footing then answer the same twice."""

_ADVICE = {
    401: "Check llm.api_key",
    403: "Check llm.api_key and what it may use",
    404: "Check llm.base_url and llm.model",
    413: "The prompt is too long for it",
}


def make_chat_model(settings: LlmSettings) -> ChatModel:
    """The model that the settings name. Connects to nothing.

    Raises:
        InvalidArgument: no model is set.
    """
    if not settings.enabled:
        raise InvalidArgument("No language model is set. It needs llm.base_url and llm.model.", setting="llm")
    return OpenAiCompatible(settings)


class OpenAiCompatible:
    """A `ChatModel` over HTTP."""

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings

    @property
    def name(self) -> str:
        """The model's name, as the endpoint knows it."""
        return self._settings.model

    @property
    def fingerprint(self) -> str:
        """Of the name and the sampling; the address is not part of it, so that a model may move."""
        return fingerprint(("openai-compatible", self.name, "temperature=0", f"seed={SEED}"))

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Chat]:
        """Open connections for the length of the block."""
        try:
            import openai

            from graphctx.nlp.llm.bounded import BoundedClient
        except ImportError:
            raise ChatFailed(
                "The package openai is not installed: pip install 'graphctx[llm]'", "unexpected", lasting=True
            ) from None
        settings = self._settings
        key = settings.api_key.get_secret_value()
        # The library would else take a key, an organization and a project that are meant for another endpoint out of
        # the environment.
        headers: dict[str, Any] = {
            "Authorization": f"Bearer {key}" if key else openai.Omit(),
            "OpenAI-Organization": openai.Omit(),
            "OpenAI-Project": openai.Omit(),
            "Accept-Encoding": "identity",
        }
        client = openai.AsyncOpenAI(
            base_url=settings.base_url,
            api_key=key or "none",
            admin_api_key="",
            max_retries=settings.max_retries,
            http_client=BoundedClient(settings.timeout_seconds, settings.concurrency),
        )
        async with client:
            yield _Line(client, settings, headers)


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Said(BaseModel):
    content: str


class _Choice(BaseModel):
    message: _Said
    finish_reason: str | None = None


class _Response(BaseModel):
    """The part of a response that is read."""

    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class _Line:
    """An open line. Learns once what this model does not take."""

    def __init__(self, client: openai.AsyncOpenAI, settings: LlmSettings, headers: dict[str, Any]) -> None:
        self._client = client
        self._settings = settings
        self._headers = headers
        self._sampling: dict[str, float] = {"temperature": 0, "seed": SEED}
        self._limit = "max_tokens"

    async def complete(self, messages: Sequence[Message], max_tokens: int) -> Completion:
        import openai

        body = [{"role": message.role, "content": message.content} for message in messages]
        while True:
            try:
                return await self._ask(body, max_tokens)
            except openai.BadRequestError as error:
                if not self._adapts(error.param):
                    raise self._failure(error) from None
            except openai.OpenAIError as error:
                raise self._failure(error) from None  # the cause would show the request, and with it the key

    async def _ask(self, messages: list[dict[str, str]], max_tokens: int) -> Completion:
        import httpx2

        request = {"model": self._settings.model, "messages": messages, **self._sampling, self._limit: max_tokens}
        response = await self._client.post(
            "/chat/completions", cast_to=httpx2.Response, body=request, options={"headers": self._headers}
        )
        try:
            read = _Response.model_validate_json(response.content)
        except ValidationError:
            raise ChatFailed("The endpoint's answer is no chat completion with text.", "not_a_completion") from None
        choice, usage = read.choices[0], read.usage or _Usage()
        return Completion(
            choice.message.content, choice.finish_reason != "length", usage.prompt_tokens, usage.completion_tokens
        )

    def _adapts(self, parameter: str | None) -> bool:
        """Whether the request can be made without what was refused: reasoning models take no sampling."""
        if parameter == "max_tokens" and self._limit == parameter:
            self._limit = "max_completion_tokens"
            return True
        return parameter is not None and self._sampling.pop(parameter, None) is not None

    def _failure(self, error: openai.OpenAIError) -> ChatFailed:
        import openai

        attempts = f"after {self._settings.max_retries + 1} attempts" if self._settings.max_retries else "at once"
        if isinstance(error, openai.APITimeoutError):
            seconds = self._settings.timeout_seconds
            return ChatFailed(f"No complete answer within {seconds:g} s, {attempts}.", "timeout")
        if isinstance(error, openai.APIConnectionError):
            return ChatFailed(f"The endpoint cannot be reached, or broke off, {attempts}.", "unreachable")
        if isinstance(error, openai.APIStatusError):
            status = error.status_code
            advice = f" {_ADVICE[status]}." if status in _ADVICE else ""
            if status == 429:
                return ChatFailed("The endpoint limits the rate (429).", "rate_limited")
            if status >= 500:
                return ChatFailed(f"The endpoint failed with {status}.", "server_error")
            return ChatFailed(
                f"The endpoint refused with {status}.{advice}", "refused", lasting=status in (401, 403, 404)
            )
        return ChatFailed(f"The client failed: {type(error).__name__}.", "unexpected")
