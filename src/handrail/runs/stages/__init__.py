"""The stages of a blueprint, run: the seam for whoever starts, drives and shows such runs.

* ``start_blueprint(blueprint, task, agent, options)`` gives a ``Run`` like any other; ``await run_blueprint(...)`` is
  the short form. ``agent`` is an ``Agent`` whose models and tools the stages pick from by name, or ``Assemble``: a
  function from a stage of the blueprint to such an agent. Commands that regions begin with need ``permit``;
  fan-outs to agents of the host or to other blueprints need ``workers``.
* ``await resume_blueprint(session, agent, options)`` goes on with the open run, by the blueprint frozen in the journal;
  ``blueprint=`` makes sure it is the same one (``BlueprintChanged`` has the diff). ``restart_blueprint`` ends it and
  starts its task anew with another blueprint. ``frozen_blueprint`` is the one a run obeys.
* With ``RunOptions(parks=True, approver=HOLD, answerer=HOLD)`` nothing waits in memory: the result says ``WAITING``
  with ``waits_for``, the questions as ``AskOpened``. Answer them by ``runs.desk.Desk``, then resume.
* ``progress_of(events)`` is what a run has come to: regions, visits, points, the stage it is in.
"""

from __future__ import annotations

from handrail.runs.stages.assembly import Assemble as Assemble
from handrail.runs.stages.progress import Progress as Progress
from handrail.runs.stages.progress import progress_of as progress_of
from handrail.runs.stages.starting import BlueprintChanged as BlueprintChanged
from handrail.runs.stages.starting import frozen_blueprint as frozen_blueprint
from handrail.runs.stages.starting import restart_blueprint as restart_blueprint
from handrail.runs.stages.starting import resume_blueprint as resume_blueprint
from handrail.runs.stages.starting import run_blueprint as run_blueprint
from handrail.runs.stages.starting import start_blueprint as start_blueprint
from handrail.runs.stages.workers import Workers as Workers
