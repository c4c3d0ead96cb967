"""Pure functions on strings: the same input gives the same output on every machine. No I/O, no models.

``normalise``  the form that every offset counts in: ``normalise``
``sentences``  the smallest spans worth quoting: ``split_sentences``
``spans``      lexical evidence as the tool contract defines it: ``best_spans``, ``split_spans``, ``question_tokens``
``graphemes``  where a text may be cut: ``cut_end``, ``cut_start``, ``floor``, ``ceil``, ``is_boundary``
``lexical``    index terms: ``terms``, ``words``, ``fold``, ``stem``
``names``      names as they are compared and as titles show them: ``normalise_name``, ``shown_name``
``prose``      which sentences can be read alone: ``stands_alone``
``directives`` what becomes of the bodies of Docutils and Sphinx directives: ``role_of``
``printable``  text as a terminal shows it: ``visible``, ``one_line``
``gazetteer``  dictionary matching: ``Gazetteer``, ``name_words``
"""
