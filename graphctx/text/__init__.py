"""Pure functions on strings: the same input gives the same output on every machine. No I/O, no models.

``normalise``  the form that every offset counts in: ``normalise``
``sentences``  the smallest spans worth quoting: ``split_sentences``
``spans``      lexical evidence as the tool contract defines it: ``best_spans``, ``split_spans``, ``question_tokens``
``lexical``    index terms: ``terms``, ``words``, ``fold``, ``stem``
``names``      names as they are compared: ``normalise_name`` and what resolution asks of them
``gazetteer``  dictionary matching: ``Gazetteer``, ``name_words``
"""
