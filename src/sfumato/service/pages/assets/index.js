/* The first page: the token that somebody came with goes on to the pages that need it. It stays in the address, behind #. */

"use strict";

for (const link of document.querySelectorAll("a.token")) link.hash = location.hash;
