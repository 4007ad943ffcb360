/* The time zone of the browser in forms. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

process.env.TZ = "Asia/Tokyo";

const SCRIPTS = ["askew/pages.js"];

test("a first sign-in sends the time zone of the browser", async () => {
  const page = await openPage("managers/sign_in");
  assert.equal(page.find("form input[name=time_zone]").value, "Asia/Tokyo");
});

test("a new project starts with the time zone of the browser", async () => {
  const page = await openPage("managers/new_project");
  assert.equal(page.find("select[name=time_zone]").value, "Asia/Tokyo");
});

test("a list without the time zone of the browser stays as it is", async () => {
  const list = '<select name=time_zone data-of-browser><option value="UTC">UTC</option><option value="Europe/Oslo" selected>Oslo</option></select>';
  const page = await openPage(`<main>${list}</main>`, { scripts: SCRIPTS });
  assert.equal(page.find("select").value, "Europe/Oslo");
});

test("a list that was sent keeps its choice", async () => {
  const list = '<select name=time_zone><option value="UTC" selected>UTC</option><option value="Asia/Tokyo">Tokyo</option></select>';
  const page = await openPage(`<main>${list}</main>`, { scripts: SCRIPTS });
  assert.equal(page.find("select").value, "UTC");
});
