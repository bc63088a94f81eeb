/* What a keyboard and a screen reader need, and the theme does not give. */

"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const sideways = document.querySelectorAll(".bd-article table.table, .bd-article .formula, .bd-article p:has(> img)");

  /* What scrolls sideways can be reached by the tab key, as long as it does. */
  function reach() {
    for (const box of sideways) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; else box.removeAttribute("tabindex");
    }
  }

  for (const summary of document.querySelectorAll(".bd-sidebar summary")) {
    const page = summary.closest("li")?.querySelector("a");
    summary.setAttribute("aria-label", page ? `Pages below ${page.textContent.trim()}` : "More pages");
  }
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a")) link.setAttribute("aria-label", link.textContent.trim());

  reach();
  window.addEventListener("load", reach); // pictures have their size now
  window.addEventListener("resize", reach);
});
