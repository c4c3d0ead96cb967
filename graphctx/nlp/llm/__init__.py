"""An optional language model that phrases what was found. Off unless ``[llm] base_url`` and ``model`` are set.

``client`` talks to the endpoint, ``prompts`` says what is asked, ``asking`` asks many prompts concurrently and reports,
``citations`` checks answers, ``phrase`` makes summaries and answers. Nothing is imported here, and the packages that
talk to an endpoint only when one is opened.
"""
