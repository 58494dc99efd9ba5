/** Files that the page hands to the user: texts, and pictures made of SVG. */

/** Offers something as a download. */
export function download(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The download has begun when this is reached later.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** An image of an SVG, when it can be drawn. */
export async function imageOf(svg: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  return image;
}

/** An SVG as PNG, so many pixels to one of it. */
export async function pngOf(svg: string, ratio: number): Promise<Blob> {
  const image = await imageOf(svg);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(image.naturalWidth * ratio);
  canvas.height = Math.round(image.naturalHeight * ratio);
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("this browser draws no pictures");
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) => {
    canvas.toBlob((blob) => (blob === null ? failed(new Error("the picture is too large to be saved")) : done(blob)), "image/png");
  });
}

/**
 * An element of the page as SVG, looking as it does there; what is scrolled away in it is there, too.
 *
 * It is written as text, not as a copy of the element: the page's own policy would refuse a copy its styles.
 */
export function svgOf(element: HTMLElement, title: string): string {
  const width = Math.ceil(element.getBoundingClientRect().width);
  const height = Math.ceil(element.scrollHeight);
  const { backgroundColor, color, fontFamily, fontSize, lineHeight } = getComputedStyle(document.body);
  const theme = document.documentElement.dataset["theme"] ?? "light";
  const look = `background:${backgroundColor};color:${color};font:${fontSize}/${lineHeight} ${fontFamily};width:${width}px;min-height:${height}px`;
  const style = `<style>${text(`${rules()}\n.saved > * { height: auto; overflow: visible; }`)}</style>`;
  const inside = new XMLSerializer().serializeToString(element);
  const outer = `<div xmlns="http://www.w3.org/1999/xhtml" class="saved" data-theme="${text(theme)}" style="${text(look)}">${style}${inside}</div>`;
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}><title>${text(title)}</title><foreignObject width="100%" height="100%">${outer}</foreignObject></svg>`;
}

/** Text that stands in XML as itself. */
function text(value: string): string {
  const harmless: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return value.replace(/[&<>"]/g, (letter) => harmless[letter] ?? letter);
}

/** All rules of the page, with what it calls its root being the saved element. */
function rules(): string {
  const all = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.cssText));
  return all.join("\n").replaceAll(":root", ".saved");
}
