/* Says on a page of work that its browser is too old, where a feature is missing that every request or panel needs: the page
   stays the form for browsers without scripts. No module, and nothing newer than ES5: it has to run where they do not. */

(function () {
  var has = window.AbortSignal && Boolean(AbortSignal.any) && Boolean(AbortSignal.timeout) && window.customElements && Boolean(Array.prototype.findLast)
    && Boolean(HTMLElement.prototype.showPopover) && window.HTMLDialogElement && Boolean(HTMLDialogElement.prototype.showModal);
  if (has) return;
  var words = /** @type {HTMLScriptElement} */ (document.currentScript).getAttribute("data-words");
  document.documentElement.setAttribute("data-unsupported", "");
  function say() {
    var notice = document.createElement("p");
    notice.className = "notice problem";
    notice.setAttribute("role", "alert");
    notice.textContent = words;
    var place = document.querySelector("main") || document.body;
    place.insertBefore(notice, place.firstChild);
  }
  if (document.body) say();
  else document.addEventListener("DOMContentLoaded", say);
}());
