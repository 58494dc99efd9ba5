/** A view as a file, or on paper. */
import { download, imageOf, pngOf, svgOf } from "../../base/files.ts";
import { pictures } from "../../state/pictures.ts";
import { fail, run } from "../../state/run.ts";
import { view } from "../../state/view.ts";

/** Pixels of a PNG to one of the page: enough for paper. */
const RATIO = 2;

function picture(): string {
  const own = pictures.get(view.peek());
  if (own !== undefined) return own();
  const element = document.querySelector<HTMLElement>(".pane > *");
  if (element === null) throw new Error("there is nothing to save yet");
  return svgOf(element, name());
}

function name(): string {
  return `${(run.peek()?.name ?? "run").replace(/\.marey$/, "")}-${view.peek()}`;
}

export async function saveAs(kind: "svg" | "png"): Promise<void> {
  try {
    const svg = picture();
    const content = kind === "svg" ? new Blob([svg], { type: "image/svg+xml" }) : await pngOf(svg, RATIO);
    download(content, `${name()}.${kind}`);
  } catch (error) {
    fail(error);
  }
}

/** Prints the view; one that draws itself in lines, so that it is sharp on paper. */
export async function printView(): Promise<void> {
  try {
    const own = pictures.get(view.peek());
    const image = own === undefined ? null : await imageOf(own());
    if (image !== null) {
      image.className = "printed";
      image.alt = name();
      document.body.append(image);
      document.body.classList.add("prints-picture");
    }
    window.print();
    image?.remove();
    document.body.classList.remove("prints-picture");
  } catch (error) {
    fail(error);
  }
}
