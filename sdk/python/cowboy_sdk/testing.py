"""What tests of actors import: a chain in memory, runners by script, and names for accounts.

    from cowboy_sdk.testing import Chain, account

    chain = Chain()
    counter = chain.deploy("examples/counter.py")
    assert chain.execute(counter, "add", 5).check().output == 5

An actor that asks for work is answered by ``Chain.work``, which lets a script find what
each runner would, or by ``Chain.answer``, which says how a job ends.
"""

from ._chain import Chain, Event, Job, Receipt, Sent, Timer, account
from ._runners import SILENT, Fault

__all__ = ["SILENT", "Chain", "Event", "Fault", "Job", "Receipt", "Sent", "Timer", "account"]
