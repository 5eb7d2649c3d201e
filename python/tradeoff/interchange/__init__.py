# SPDX-License-Identifier: Apache-2.0
"""From and to the accountants that people already use.

* ``opacus``: an accountant with the interface of Opacus, and its histories;
* ``dp_event``: the event trees of Google's dp-accounting, read and written;
* ``dp_accounting``: a ``PrivacyAccountant`` of dp-accounting with certified answers; import it by its name, it needs dp-accounting;
* ``jax_privacy``: the batch selection strategies of JAX Privacy, read and written;
* ``opendp``: measurements of OpenDP, in the form that its ``serialize`` writes, read;
* ``prv``: (low, estimate, high) triples in the style of the PRV accountant;
* ``gdpnum``: mu with its regret.

``read_history`` takes whatever another accountant has recorded and makes a plan of it.
"""

from .dp_event import from_dp_event, to_dp_event
from .gdpnum import MuAndRegret, mu_and_regret
from .histories import merge_histories, read_history
from .jax_privacy import from_jax_privacy, to_jax_privacy
from .opacus import Accountant, NoStepsWarning
from .opendp import from_opendp

__all__ = [
    "Accountant",
    "MuAndRegret",
    "NoStepsWarning",
    "from_dp_event",
    "from_jax_privacy",
    "from_opendp",
    "merge_histories",
    "mu_and_regret",
    "read_history",
    "to_dp_event",
    "to_jax_privacy",
]
