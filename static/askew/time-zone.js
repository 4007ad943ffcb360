/* The time zone of the browser: in the hidden field of a form that signs somebody in for the first time, and as the choice
   of a list that nobody has sent yet, if the list has it. */

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
for (const field of document.querySelectorAll("input[type=hidden][name=time_zone]")) field.value = zone;
for (const list of document.querySelectorAll("select[name=time_zone][data-of-browser]")) {
  if ([...list.options].some((option) => option.value === zone)) list.value = zone;
}
