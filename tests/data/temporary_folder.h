#pragma once

#include "tests/support/surroundings.h"
#include "tests/support/temporary_folder.h"
