/* Presses, drags and taps on the cells of a painted table, told in calls.

   A mouse acts as it goes down, as in a spreadsheet: `settle(place, extend)` at once, then `pressed` when it comes up
   where it went down, or `reach(place, start)` for every cell that it is drawn over and `released(start)` at the end. A
   finger scrolls, so only its tap counts; a click that a screen reader makes is a tap as well. Places are what
   Painting.placeOf gives. */

const EDGE = 24; // px from the edge of the sheet at which dragging scrolls
const STEP = 12; // px of scrolling in a frame
const STILL = 5; // px that a hand moves without meaning it

/* calls: settle, pressed(place, {again, extend, dragging, touch}), doubled(), reach, released, dropped(),
   isHere(place), writes(target): whether somebody is writing there. */
/** @param {Painted} painting @param {PointerCalls} calls */
export function listenToPointer(painting, calls) {
  const { table, sheet } = painting;
  /** @type {PointerPress | null} */
  let press = null;

  table.addEventListener("pointerdown", (event) => {
    press = null;
    if (event.button !== 0 || event.pointerType === "touch" || calls.writes(event.target)) return;
    const place = painting.placeOf(event.target);
    if (!place) return;
    const again = calls.isHere(place);
    const extend = event.shiftKey;
    calls.settle(place, extend);
    press = { place, again, extend, moved: false, x: event.clientX, y: event.clientY, at: event };
    calls.pressed(place, { again, extend, dragging: true, touch: false });
    follow(press);
  });

  table.addEventListener("mousedown", (event) => {
    if (press) event.preventDefault(); // the focus goes to the cell, not to what is around it
  });

  table.addEventListener("click", (event) => {
    if (press) { // the end of what a mouse has begun
      press = null;
      return;
    }
    if (calls.writes(event.target)) return;
    const place = painting.placeOf(event.target);
    if (!place) return;
    const again = calls.isHere(place);
    calls.settle(place, event.shiftKey);
    calls.pressed(place, { again, extend: event.shiftKey, dragging: false, touch: true });
  });

  table.addEventListener("dblclick", (event) => {
    if (!calls.writes(event.target) && painting.placeOf(event.target)?.column) calls.doubled();
  });

  /* Until the button comes up, wherever that is. */
  /** @param {PointerPress} current */
  function follow(current) {
    const leave = new AbortController();
    const { signal } = leave;
    addEventListener("pointermove", (event) => drag(current, event), { signal });
    for (const kind of ["pointerup", "pointercancel"]) {
      addEventListener(kind, (event) => {
        leave.abort();
        end(current, event.type === "pointercancel");
      }, { signal });
    }
  }

  /** @param {PointerPress} current @param {PointerEvent} event */
  function drag(current, event) {
    if (current.place.row === null || !(event.buttons & 1)) return;
    if (!current.moved && Math.abs(event.clientX - current.x) + Math.abs(event.clientY - current.y) < STILL) return;
    current.at = event;
    reach(current);
    scroll(current);
  }

  /** @param {PointerPress} current */
  function reach(current) {
    const box = sheet.getBoundingClientRect();
    const x = Math.min(Math.max(current.at.clientX, box.left + 2), box.right - 3);
    const y = Math.min(Math.max(current.at.clientY, box.top + 2), box.bottom - 3);
    const found = painting.placeOf(document.elementFromPoint(x, y) ?? sheet);
    if (found && found.row !== null && calls.reach(found, current.place)) current.moved = true;
  }

  /* Near the edge of the sheet, dragging scrolls. */
  /** @param {PointerPress} current */
  function scroll(current) {
    if (current.scrolling) return;
    current.scrolling = true;
    const step = () => {
      const box = sheet.getBoundingClientRect();
      const { clientX: x, clientY: y } = current.at;
      const down = y > box.bottom - EDGE ? STEP : y < box.top + EDGE ? -STEP : 0;
      const right = x > box.right - EDGE ? STEP : x < box.left + EDGE ? -STEP : 0;
      if (current.done || (!down && !right)) {
        current.scrolling = false;
        return;
      }
      sheet.scrollBy(right, down);
      reach(current);
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  /** @param {PointerPress} current @param {boolean} cancelled */
  function end(current, cancelled) {
    current.done = true;
    setTimeout(() => { // the click that belongs to it has come by then, if one comes
      if (press === current) press = null;
    }, 100);
    if (cancelled) calls.dropped();
    else if (current.moved) calls.released(current.place);
    else if (!current.extend) calls.pressed(current.place, { again: current.again, extend: false, dragging: false, touch: false });
  }
}
