"""A language model behind any endpoint that speaks OpenAI's chat completions: Ollama, llama.cpp, vLLM, hosted models.

The package ``openai`` (extra ``graphctx[llm]``) retries with backoff, obeys Retry-After and keeps connections. Its
responses are validated here, since it validates nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.model.ids import fingerprint
from graphctx.settings import LlmSettings

if TYPE_CHECKING:
    import httpx2
    import openai

SEED = 20_250_101
"""Sent with temperature 0: endpoints that honour it return the same answer twice."""

MAX_BODY_BYTES = 4 * 1024 * 1024
"""Thirty times the longest answer that can be asked for: a larger response is not a completion."""

_CONNECT_SECONDS = 5.0

_ADVICE = {
    401: "Check llm.api_key",
    403: "Check llm.api_key and what it may use",
    404: "Check llm.base_url and llm.model",
    413: "The prompt is too long for it",
}

FailureKind = Literal[
    "unreachable",
    "timeout",
    "rate_limited",
    "refused",
    "server_error",
    "not_a_completion",
    "uncited",
    "unexpected",
    "skipped",
]
"""Why there is no answer: because of the endpoint, of what it answered, or because it was not asked."""


class ChatFailed(BackendUnavailable):
    """A prompt has no usable answer; the caller continues without one.

    Args:
        message: what happened; never a secret, an address or text of the endpoint.
        kind: for counting.
        permanent: whether every other request would fail in the same way.
    """

    def __init__(self, message: str, kind: FailureKind, permanent: bool = False) -> None:
        super().__init__(message, kind=kind)
        self.kind: FailureKind = kind
        self.permanent = permanent


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Literal["system", "user"]
    content: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote. ``finished`` is false if it was cut at its limit; tokens are 0 if the endpoint gave none."""

    text: str
    finished: bool = True
    input_tokens: int = 0
    output_tokens: int = 0


class ChatModel:
    """A language model behind an endpoint. Connects to nothing before it is opened."""

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings

    @property
    def name(self) -> str:
        """The model's name, as the endpoint knows it."""
        return self._settings.model

    @property
    def fingerprint(self) -> str:
        """Hash of the name and the sampling, part of memo keys. Without the address, so that a model may move."""
        return fingerprint(("openai-compatible", self.name, "temperature=0", f"seed={SEED}"))

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Chat]:
        """Open connections for the length of the block.

        Raises:
            ChatFailed: on entering, if the package openai is not installed.
        """
        try:
            import openai
        except ImportError:
            raise ChatFailed(
                "The package openai is not installed: pip install 'graphctx[llm]'", "unexpected", permanent=True
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
            http_client=_bounded_client(settings.timeout_seconds, settings.concurrency),
        )
        async with client:
            yield Chat(client, settings, headers)


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


class Chat:
    """An open connection to a model, used by many tasks at once. Remembers which parameters the model refuses."""

    def __init__(self, client: openai.AsyncOpenAI, settings: LlmSettings, headers: dict[str, Any]) -> None:
        self._client = client
        self._settings = settings
        self._headers = headers
        self._sampling: dict[str, float] = {"temperature": 0, "seed": SEED}
        self._limit = "max_tokens"

    async def complete(self, messages: Sequence[Message], max_tokens: int) -> Completion:
        """Answer a conversation, as repeatably as the model can.

        Raises:
            ChatFailed: there is no answer after all retries.
        """
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
            raise ChatFailed("The endpoint's answer is not a chat completion with text.", "not_a_completion") from None
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
                f"The endpoint refused with {status}.{advice}", "refused", permanent=status in (401, 403, 404)
            )
        return ChatFailed(f"The client failed: {type(error).__name__}.", "unexpected")


def make_chat_model(settings: LlmSettings) -> ChatModel:
    """Return the model that the settings name, without connecting.

    Raises:
        InvalidArgument: no model is set.
    """
    if not settings.enabled:
        raise InvalidArgument("No language model is set. It needs llm.base_url and llm.model.", setting="llm")
    return ChatModel(settings)


def _bounded_client(timeout_seconds: float, connections: int) -> httpx2.AsyncClient:
    """An HTTP client with a limit on the time and the size of a whole response.

    The library's own timeouts are for each operation on the socket: an endpoint that sends a byte now and then never
    reaches them. It is the MCP SDK that brings httpx2.

    Args:
        timeout_seconds: for one request, from connecting to the end of its body.
        connections: open at the same time at most.
    """
    import anyio
    import httpx2

    class CappedBody(httpx2.AsyncByteStream):
        def __init__(self, body: httpx2.AsyncByteStream) -> None:
            self._body = body

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in self._body:
                size += len(chunk)
                if size > MAX_BODY_BYTES:
                    raise ChatFailed(f"The endpoint sent more than {MAX_BODY_BYTES:,} bytes.", "not_a_completion")
                yield chunk

        async def aclose(self) -> None:
            await self._body.aclose()

    class BoundedClient(httpx2.AsyncClient):
        async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
            try:
                with anyio.fail_after(timeout_seconds):
                    response = await super().send(request, stream=True, **options)
                    try:
                        if response.headers.get("content-encoding", "identity").lower() != "identity":
                            # None was asked for, and a small compressed body can unfold to any size.
                            raise ChatFailed("The endpoint sent a compressed body.", "not_a_completion")
                        if isinstance(response.stream, httpx2.AsyncByteStream):
                            response.stream = CappedBody(response.stream)
                        await response.aread()
                    finally:
                        await response.aclose()
            except TimeoutError as error:
                raise httpx2.ReadTimeout("The response was not complete in time.", request=request) from error
            return response

    return BoundedClient(
        timeout=httpx2.Timeout(timeout_seconds, connect=min(_CONNECT_SECONDS, timeout_seconds)),
        limits=httpx2.Limits(max_connections=connections, max_keepalive_connections=connections),
    )
