"""Carrying runs on many machines: short jobs in PostgreSQL, one driver a run, taken over where a worker died."""

from __future__ import annotations

from handrail.runs.worker.queue import Carry as Carry
from handrail.runs.worker.queue import Pace as Pace
from handrail.runs.worker.queue import Queue as Queue
from handrail.runs.worker.queue import pace_for as pace_for
