#pragma once
/* Nothing to call: see CUnseen.c. */
