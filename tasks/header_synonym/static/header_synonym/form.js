/* The list of columns with suggestions for their names. */

import "../askew/renames.js";
