"""Pure functions on strings: the same input gives the same output on every machine. No I/O, no models.

``normalise``  the form that every offset counts in: ``normalise``
``sentences``  the smallest spans worth quoting: ``split_sentences``
``spans``      lexical evidence as the tool contract defines it: ``best_spans``, ``split_spans``, ``question_tokens``
``graphemes``  where a text may be cut: ``cut_end``, ``cut_start``, ``floor``, ``ceil``, ``is_boundary``
``lexical``    index terms: ``terms``, ``words``, ``fold``, ``stem``
``names``      names as they are compared: ``normalise_name`` and what resolution asks of them
``gazetteer``  dictionary matching: ``Gazetteer``, ``name_words``
"""
