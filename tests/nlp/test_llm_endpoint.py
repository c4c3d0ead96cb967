"""A real client against a real socket on which everything goes wrong that can."""

from __future__ import annotations

import json
import threading

import pytest

from graphctx.errors import InvalidArgument, TimedOut
from graphctx.model.interrupt import stoppable
from graphctx.nlp.llm.asking import BREAK_AFTER, ModelAnswer, Outcome, ask_all
from graphctx.nlp.llm.client import ChatFailed, ChatModel, make_chat_model
from graphctx.nlp.llm.prompts import Prompt, Prompts
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.settings import LlmSettings, load_settings

from . import llm_stub
from .llm_stub import PATIENCE_SECONDS, Exchange, Reply, Stub, completion, says, sends, stub

__all__ = ["stub"]

PROMPTS = Prompts(WordPieceCounter())
GOOD = says("Ana leads it [1].")
FAST = {"timeout_seconds": 0.4}


def prompt(name: str = "Ana") -> Prompt:
    return PROMPTS.summary(name, (name,), (f"{name} leads the team.",))


def ask(model: ChatModel, count: int = 1, concurrency: int = 1, within: float = 60.0) -> list[Outcome]:
    prompts = [prompt(f"Ana{'x' * at}") for at in range(count)]
    found = dict(ask_all(model, prompts, 64, concurrency=concurrency, within_seconds=within))
    return [found[at] for at in range(count)]


def kinds(outcomes: list[Outcome]) -> list[str]:
    return [outcome.kind if isinstance(outcome, ChatFailed) else "answer" for outcome in outcomes]


def test_a_request_says_what_was_asked_repeatably_and_with_the_key_of_the_settings(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "meant-for-another")
    assert kinds(ask(stub.model(api_key="hush-hush"))) == ["answer"]
    assert kinds(ask(stub.model())) == ["answer"]
    keyed, keyless = stub.requests
    assert keyed.path == "/v1/chat/completions"
    assert keyed.headers["authorization"] == "Bearer hush-hush"
    assert "authorization" not in keyless.headers
    assert "meant-for-another" not in json.dumps([keyed.headers, keyless.headers])
    assert (keyed.body["model"], keyed.body["temperature"], keyed.body["max_tokens"]) == ("stub", 0, 64)
    assert keyed.body["seed"] == keyless.body["seed"]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (llm_stub.hang, "timeout"),
        (llm_stub.drip_body, "timeout"),
        (llm_stub.drip_headers, "timeout"),
        (llm_stub.reset, "unreachable"),
        (llm_stub.huge, "not_a_completion"),
        (sends(200, completion("Ana [1]."), content_encoding="gzip"), "not_a_completion"),
        (sends(200, b'{"choices": [{"mess'), "not_a_completion"),
        (sends(200, b"\xff\xfe\x00"), "not_a_completion"),
        (sends(200, b""), "not_a_completion"),
        (sends(200, b"<html>busy</html>"), "not_a_completion"),
        (sends(200, b'{"answer": "Ana [1]."}'), "not_a_completion"),
        (sends(200, b'{"choices": []}'), "not_a_completion"),
        (sends(200, b'{"choices": [{"message": {"content": 7}}]}'), "not_a_completion"),
        (says(None), "not_a_completion"),
        (says(""), "uncited"),
        (says("Ana leads it."), "uncited"),
        (says("Ana leads it [1] and al", finish="length"), "uncited"),
        (sends(429), "rate_limited"),
        (sends(500), "server_error"),
        (sends(503, b"x" * 1000), "server_error"),
        (sends(400), "refused"),
        (sends(401), "refused"),
        (sends(404), "refused"),
        (sends(302, location="http://127.0.0.1:1/"), "refused"),
    ],
)
def test_whatever_goes_wrong_is_a_failure_with_its_kind(stub: Stub, reply: Reply, kind: str) -> None:
    stub.otherwise = reply
    outcome = ask(stub.model(**(FAST if kind == "timeout" else {}), api_key="hush-hush"))[0]
    assert isinstance(outcome, ChatFailed)
    assert outcome.kind == kind
    assert "hush-hush" not in outcome.message
    assert stub.url not in outcome.message


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}/v1", "http://no-such-host.invalid/v1"])
def test_an_endpoint_that_is_not_there_is_a_failure(stub: Stub, url: str) -> None:
    there = url.format(port=llm_stub.closed_port())
    assert kinds(ask(stub.model(base_url=there))) == ["unreachable"]


@pytest.mark.parametrize("fault", [sends(500), sends(429), llm_stub.reset, llm_stub.hang])
def test_what_may_pass_is_tried_again(stub: Stub, fault: Reply) -> None:
    stub.script = [fault, GOOD]
    assert kinds(ask(stub.model(max_retries=1, **FAST))) == ["answer"]
    assert len(stub.requests) == 2


@pytest.mark.parametrize("status", [429, 503])
def test_the_endpoint_says_when_to_come_back(stub: Stub, status: int) -> None:
    stub.script = [sends(status, retry_after="1"), GOOD]
    assert kinds(ask(stub.model(max_retries=1))) == ["answer"]
    first, second = stub.requests
    assert second.at - first.at >= 1.0  # without the header it is half a second at most


def test_a_model_that_takes_no_sampling_is_asked_without_and_remembered(stub: Stub) -> None:
    def reasoning(exchange: Exchange) -> None:
        for name in ("max_tokens", "temperature", "seed"):
            if name in exchange.asked.body:
                return exchange.send(400, json.dumps({"error": {"message": "no", "param": name}}).encode())
        return GOOD(exchange)

    stub.otherwise = reasoning
    assert kinds(ask(stub.model(), count=2)) == ["answer", "answer"]
    assert len(stub.requests) == 5
    assert stub.requests[-1].body["max_completion_tokens"] == 64


def test_no_more_are_asked_at_once_than_allowed_and_as_many_as_allowed(stub: Stub) -> None:
    three = threading.Barrier(3, timeout=PATIENCE_SECONDS)  # broken, unless three are there at the same time

    def together(exchange: Exchange) -> None:
        three.wait()
        GOOD(exchange)

    stub.otherwise = together
    assert kinds(ask(stub.model(concurrency=3), count=9, concurrency=3)) == ["answer"] * 9
    assert stub.most_at_once == 3


def test_outcomes_belong_to_their_prompts_in_whatever_order_they_come(stub: Stub) -> None:
    last_is_out = threading.Event()

    def backwards(exchange: Exchange) -> None:
        name = exchange.asked.given[0].split()[0]
        if name != "Anaxxx":
            assert last_is_out.wait(PATIENCE_SECONDS)
        llm_stub.first_sentence(exchange)
        if name == "Anaxxx":
            last_is_out.set()

    stub.otherwise = backwards
    outcomes = ask(stub.model(concurrency=4), count=4, concurrency=4)
    texts = [outcome.cited.sentences[0].text for outcome in outcomes if isinstance(outcome, ModelAnswer)]
    assert texts == [f"Ana{'x' * at} leads the team." for at in range(4)]


def test_failures_in_a_row_end_the_run(stub: Stub) -> None:
    stub.script = [sends(500), GOOD]
    stub.otherwise = sends(500)
    outcomes = ask(stub.model(), count=30)
    assert kinds(outcomes) == ["server_error", "answer", *["server_error"] * BREAK_AFTER, *["skipped"] * 23]
    assert len(stub.requests) == 2 + BREAK_AFTER
    assert "5 failures in a row" in str(outcomes[-1])


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_model_ends_the_run_at_once(stub: Stub, status: int) -> None:
    stub.otherwise = sends(status)
    outcomes = ask(stub.model(max_retries=3), count=10)
    assert kinds(outcomes) == ["refused", *["skipped"] * 9]
    assert len(stub.requests) == 1
    assert "Check llm." in str(outcomes[-1])


def test_a_run_ends_when_its_time_is_over(stub: Stub) -> None:
    stub.script = [GOOD]
    stub.otherwise = llm_stub.hang
    outcomes = ask(stub.model(timeout_seconds=600.0), count=4, within=1.0)
    assert kinds(outcomes) == ["answer", "timeout", "timeout", "timeout"]


def test_a_call_that_was_given_up_stops_asking(stub: Stub) -> None:
    gone = threading.Event()

    def give_up(exchange: Exchange) -> None:
        gone.set()
        llm_stub.hang(exchange)

    stub.otherwise = give_up
    with stoppable(gone), pytest.raises(TimedOut):
        ask(stub.model(timeout_seconds=600.0), count=3)
    assert len(stub.requests) == 1


def test_it_works_where_a_loop_is_running(stub: Stub) -> None:
    import anyio

    async def inside() -> list[Outcome]:
        return ask(stub.model())

    assert kinds(anyio.run(inside)) == ["answer"]


def test_no_configuration_is_an_error() -> None:
    with pytest.raises(InvalidArgument, match=r"llm\.base_url"):
        make_chat_model(LlmSettings())


def test_the_key_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHCTX_LLM__API_KEY", "hush-hush")
    settings = load_settings()
    assert settings.llm.api_key.get_secret_value() == "hush-hush"
    assert "hush-hush" not in repr(settings) + settings.model_dump_json()
    monkeypatch.delenv("GRAPHCTX_LLM__API_KEY")
    for tables in ({"llm": {"api_key": ["hush-hush"]}}, {"llm": "hush-hush"}):
        with pytest.raises(InvalidArgument) as caught:
            load_settings(tables)
        assert "hush-hush" not in str(caught.value.envelope())


def test_nothing_that_talks_to_an_endpoint_is_imported_before_one_is_opened(python: object) -> None:
    code = """
import sys
from graphctx.nlp.llm.client import make_chat_model
from graphctx.nlp.llm import phrase
from graphctx.settings import LlmSettings
make_chat_model(LlmSettings(base_url="http://localhost/v1", model="m"))
print(sorted({"openai", "httpx2", "anyio"} & set(sys.modules)))
"""
    assert python(code).strip() == "[]"  # type: ignore[operator]


def test_an_absent_package_is_a_failure_that_says_what_to_install(python: object) -> None:
    code = """
import sys
sys.modules["openai"] = None
from graphctx.nlp.llm.asking import ask_all
from graphctx.nlp.llm.client import make_chat_model
from graphctx.nlp.llm.prompts import Prompts
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.settings import LlmSettings
model = make_chat_model(LlmSettings(base_url="http://localhost/v1", model="m"))
prompt = Prompts(WordPieceCounter()).summary("T", (), ("S.",))
for index, outcome in ask_all(model, [prompt], 64, concurrency=1):
    print(index, outcome.message)
"""
    assert "0 The package openai is not installed: pip install 'graphctx[llm]'" in python(code)  # type: ignore[operator]
