"""An optional language model that phrases what was found. Off unless ``[llm] base_url`` and ``model`` are set.

- ``base``: the protocols ``ChatModel``, ``Chat`` and ``Memory``; what goes in and comes out.
- ``openai_compatible``: ``make_chat_model``, any OpenAI-compatible endpoint; ``bounded``: its HTTP client.
- ``prompts``: what is asked, versioned; ``cited``: what of an answer is believed.
- ``asking``: many prompts concurrently, with a circuit breaker.
- ``summarise``: ``SummariserLlm`` for communities; ``phrase``: ``PhraserLlm`` for global search.
- ``tally``: estimates and reports.

Nothing is imported here, and the packages that talk to an endpoint only when one is opened.
"""
