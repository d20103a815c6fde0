// Opens pages at two widths, light and dark, and says what is wrong with them: a line of JSON each.
// node look.mjs BROWSER AXE PAGE... ; with SCREENSHOTS=DIR in the environment it also draws them.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, axe, ...pages] = process.argv.slice(2);
const source = fs.readFileSync(axe, "utf8");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
for (const file of pages) {
  const tab = await browser.newPage();
  const requests = [];
  tab.on("request", (request) => requests.push(request.url()));
  await tab.goto(pathToFileURL(file).href);
  await tab.evaluate(source);
  for (const width of [360, 1280]) {
    await tab.setViewportSize({ width, height: 900 });
    for (const colorScheme of ["light", "dark"]) {
      await tab.emulateMedia({ colorScheme });
      const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
      const unnamed = await tab.evaluate(() => [...document.querySelectorAll("svg")].filter((svg) =>
        svg.getAttribute("role") !== "img" || !svg.querySelector("title")?.textContent ||
        !svg.querySelector("desc")?.textContent).length);
      const drawings = await tab.evaluate(() => document.querySelectorAll("svg").length);
      // Letters that the drawing cuts off.
      const cut = await tab.evaluate(() => [...document.querySelectorAll("svg text")].filter((text) => {
        const box = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
        return box.right > all.right + 1 || box.left < all.left - 1;
      }).map((text) => text.textContent));
      if (process.env.SCREENSHOTS) {
        const name = `${path.basename(file, ".html")}-${width}-${colorScheme}.png`;
        await tab.screenshot({ path: path.join(process.env.SCREENSHOTS, name), fullPage: true });
      }
      // Of what axe looks at, the scheme changes colours alone; what holds is not asked for, since
      // listing it takes most of the time.
      const rules = colorScheme === "light" ? {} : { runOnly: { type: "rule", values: ["color-contrast"] } };
      const found = await tab.evaluate((asked) => axe.run(document, asked), { ...rules, resultTypes: ["violations"] });
      console.log(JSON.stringify({
        page: path.basename(file), width, scheme: colorScheme, wide, unnamed, drawings, cut, requests: requests.length,
        violations: found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target).join(" ")}`),
      }));
    }
  }
  await tab.close();
}
await browser.close();
