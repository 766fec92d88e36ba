// MathJax 3 typesets the page; the widget manager still calls version 2's queue.
const hub = {Queue: ([, , node]) => window.MathJax.typesetPromise?.([node])}
window.MathJax = {Hub: hub, startup: {ready() { MathJax.startup.defaultReady(); MathJax.Hub = hub }}}
// A screen reader should hear what a slider is for.
document.addEventListener('focusin', ({target}) => target.closest('.widget-slider') && target.setAttribute('aria-label', target.closest('.widget-slider').querySelector('label').textContent))
