/* Files of an import in slices, with progress: after a cut connection, or another visit, a file continues where it was. */

import { Problem, send } from "./api.js";
import { element } from "./elements.js";
import { t } from "./language.js";

const PATIENCE = 120_000; // ms for a slice
const PAUSES = [500, 1_000, 2_000, 5_000, 10_000, 20_000]; // ms before each retry of a slice

/** @type {PagePart<HTMLFormElement>} */
const form = document.querySelector("form[data-uploads]");
form?.addEventListener("submit", (event) => {
  const files = [...form.querySelectorAll("input[type=file]")].filter((input) => input.files?.length);
  if (!files.some((input) => input.name === "questions")) return; // the browser or the server says what is missing
  event.preventDefault();
  upload(files);
});

/** @param {HTMLInputElement[]} inputs */
async function upload(inputs) {
  const button = form.querySelector("button.primary");
  const bar = progressBar();
  const total = inputs.reduce((sum, input) => sum + /** @type {FileList} */ (input.files)[0].size, 0);
  let before = 0;
  button.disabled = true;
  try {
    for (const input of inputs) {
      const file = /** @type {FileList} */ (input.files)[0];
      const id = await sendFile(file, (sent) => bar.show(before + sent, total));
      before += file.size;
      hidden(`${input.name}_upload`, id);
      input.disabled = true;
    }
    form.submit();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    bar.fail(error.message);
    inputs.forEach((input) => { input.disabled = false; });
    form.querySelectorAll("input[data-uploaded]").forEach((input) => input.remove());
    button.disabled = false;
  }
}

/* Send a file to its end; its id on the server. */
/** @param {File} file @param {(sent: number) => void} show @returns {Promise<string>} */
async function sendFile(file, show) {
  const key = `askew-upload ${form.dataset.uploads} ${file.name} ${file.size} ${file.lastModified}`;
  let { id, received, slice } = await begun(key, file);
  const url = new URL(`../../../uploads/${id}/`, new URL(form.dataset.uploads, location.href));
  let failures = 0;
  while (received < file.size) {
    show(received);
    try {
      const part = file.slice(received, received + slice);
      ({ received } = await send("PUT", `${url}?offset=${received}`, part, { patience: PATIENCE }));
      failures = 0;
    } catch (error) {
      const problem = /** @type {Problem} */ (error);
      if (!problem.passing && problem.code !== "upload_gap") throw problem;
      if (failures === PAUSES.length) throw problem;
      await new Promise((resume) => setTimeout(resume, PAUSES[failures]));
      failures += 1;
      received = await send("GET", String(url)).then((state) => state.received, () => received);
    }
  }
  show(received);
  return id;
}

/* The upload of this file that an earlier attempt began, else a new one. */
/** @param {string} key @param {File} file @returns {Promise<UploadState>} */
async function begun(key, file) {
  const earlier = sessionStorage.getItem(key);
  if (earlier) {
    const url = new URL(`../../../uploads/${earlier}/`, new URL(form.dataset.uploads, location.href));
    const state = await send("GET", String(url)).catch(() => null);
    if (state) return state;
  }
  const state = await send("POST", form.dataset.uploads, { name: file.name, size: file.size });
  sessionStorage.setItem(key, state.id);
  return state;
}

function progressBar() {
  form.querySelector(".sending")?.remove();
  const bar = element("progress", { ariaLabel: t("Upload") });
  const words = element("p");
  form.append(element("div", { className: "sending", role: "status" }, bar, words));
  return {
    /** @param {number} sent @param {number} total */
    show(sent, total) {
      bar.max = total;
      bar.value = sent;
      words.textContent = t`${megabytes(sent)} of ${megabytes(total)} MB sent`;
    },
    /** @param {string} reason */
    fail(reason) {
      bar.remove();
      words.className = "notice problem";
      words.textContent = t`${reason} Press Continue to resume where it stopped.`;
    },
  };
}

const decimal = new Intl.NumberFormat(document.documentElement.lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
/** @param {number} bytes */
const megabytes = (bytes) => decimal.format(bytes / 2 ** 20);

/** @param {string} name @param {string} value */
function hidden(name, value) {
  form.append(element("input", { type: "hidden", name, value, dataset: { uploaded: "" } }));
}
