"""Journals in SQL: one text of SQL for SQLite and PostgreSQL, run in threads, with the board and the outbox beside.

``database`` says what a database must do, ``sqlite`` and ``postgres`` are the two that do. ``schema`` makes and
migrates the tables, ``transactions`` holds what the port does as functions over an open transaction, ``board_tables``
and ``outbox`` what is kept beside the events in the same one. ``journal`` is the asynchronous face of it all.
"""
