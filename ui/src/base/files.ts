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

/** An element of the page as SVG, looking as it does there; what is scrolled away in it is there, too. */
export function svgOf(element: HTMLElement, title: string): string {
  const width = Math.ceil(element.getBoundingClientRect().width);
  const height = Math.ceil(element.scrollHeight);
  const look = getComputedStyle(document.body);
  const root = document.documentElement;
  const outer = document.createElement("div");
  outer.className = "saved";
  outer.style.cssText = `background:${look.backgroundColor};color:${look.color};font:${look.font};width:${width}px;min-height:${height}px`;
  if (root.dataset["theme"] !== undefined) outer.dataset["theme"] = root.dataset["theme"];
  const style = document.createElement("style");
  style.textContent = rules();
  const copy = element.cloneNode(true) as HTMLElement;
  copy.style.overflow = "visible";
  copy.style.height = "auto";
  outer.append(style, copy);
  const inside = new XMLSerializer().serializeToString(outer);
  const words = document.createElement("title");
  words.textContent = title;
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  const name = new XMLSerializer().serializeToString(words).replace(' xmlns="http://www.w3.org/1999/xhtml"', "");
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${name}<foreignObject width="100%" height="100%">${inside}</foreignObject></svg>`;
}

/** All rules of the page, with what it calls its root being the saved element. */
function rules(): string {
  const all = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.cssText));
  return all.join("\n").replaceAll(":root", ".saved");
}
