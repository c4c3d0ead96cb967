"""Evaluation: golden questions asked of a knowledge base, what came back measured, and runs compared.

``suites`` → ``ask`` → ``measures`` → ``summary`` → ``compare`` and ``baseline`` → ``report``. ``entities`` measures
extraction and resolution. Everything goes through the façade, as a user's own question would.

Public: ``records`` (what is passed between the steps), ``suites.load_suite``, ``ask.run_suite``.
"""
