/**
 * Makes `dist/exported.html` of what Vite has built: the page with its script and its style inside, to which
 * `marey export` adds a run. It may run this one script, load nothing and talk to nobody.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

const HERE = "<!--run-->";

const built = readFileSync("dist/index.html", "utf8");
// Neither may end its element; in a script both can only stand in texts, where they mean the same so.
const script = read(/<script[^>]* src="\.\/([^"]+)"/).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const style = read(/<link rel="stylesheet"[^>]* href="\.\/([^"]+)"/);
if (/<\/style|@import|url\(/i.test(style)) throw new Error("the style names other files, or ends its element");

const policy = [
  "default-src 'none'",
  `script-src ${hash(script)} 'wasm-unsafe-eval'`,
  `style-src ${hash(style)}`,
  "img-src data: blob:",
  "worker-src blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const page = built
  .replace(/\s*<script[^>]*><\/script>/, "")
  .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
  // Before whatever it is about.
  .replace(/(<meta charset="utf-8" \/>)/, (all) => `${all}\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`)
  .replace("</head>", () => `  <style>${style}</style>\n  </head>`)
  .replace('<div id="page"></div>', '<div id="page"><p class="hush">The run is being opened … If it stays so, the end of this page is missing: copy it again.</p></div>')
  .replace("</body>", () => `${HERE}\n    <script type="module">${script}</script>\n  </body>`);
for (const part of [policy, style, script, HERE, 'class="hush"']) {
  if (page.split(part).length !== 2) throw new Error("the page that Vite has built is not as expected");
}
writeFileSync("dist/exported.html", page);

function read(link) {
  const [, name] = link.exec(built) ?? [];
  if (name === undefined) throw new Error(`the page names no ${link}`);
  return readFileSync(`dist/${name}`, "utf8");
}

function hash(text) {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
