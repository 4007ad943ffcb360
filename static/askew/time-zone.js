/* The time zone of the browser, in the hidden field of a form that signs somebody in for the first time. */

for (const field of document.querySelectorAll("input[type=hidden][name=time_zone]")) {
  field.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
}
