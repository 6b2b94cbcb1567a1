// Looks at a report as its readers will: node look.mjs CHROMIUM PAGE [FOLDER for screenshots]. Exit code 1 and a line for each fault.
import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";
import path from "node:path";

const [executablePath, page, screenshots] = process.argv.slice(2);
const faults = [];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const looks = [
  { name: "wide-light", colorScheme: "light", viewport: { width: 1280, height: 900 } },
  { name: "wide-dark", colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  { name: "phone-light", colorScheme: "light", viewport: { width: 360, height: 740 } },
  { name: "phone-dark", colorScheme: "dark", viewport: { width: 360, height: 740 } },
];
const papers = new Map();
for (const { name, colorScheme, viewport } of looks) {
  const tab = await browser.newPage({ colorScheme, viewport });
  const fault = (words) => faults.push(`${name}: ${words}`);
  tab.on("console", (message) => ["error", "warning"].includes(message.type()) && fault(`console ${message.type()}: ${message.text()}`));
  tab.on("pageerror", (error) => fault(`page error: ${error.message}`));
  tab.on("request", (request) => !/^(file|data):/.test(request.url()) && fault(`asks the network for ${request.url()}`));
  await tab.goto(pathToFileURL(path.resolve(page)).href, { waitUntil: "load" });
  const seen = await tab.evaluate(() => {
    // The relative luminance of a colour, and the contrast of two, as WCAG defines them.
    const channels = (color) => color.match(/[\d.]+/g).slice(0, 3).map((value) => value / 255);
    const luminance = (color) => {
      const [r, g, b] = channels(color).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (a, b) => {
      const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
      return (high + 0.05) / (low + 0.05);
    };
    const paper = getComputedStyle(document.body).backgroundColor;
    const faults = [];
    const charts = [...document.querySelectorAll("svg.chart")];
    for (const chart of charts) {
      const title = chart.querySelector(":scope > title")?.textContent ?? "";
      const box = chart.getBoundingClientRect();
      if (!title) faults.push("a chart has no title");
      if (!chart.querySelector(":scope > desc")?.textContent) faults.push(`${title}: no description`);
      if (box.width < 150 || box.height < 50) faults.push(`${title}: has no size (${box.width} × ${box.height})`);
      if (box.left < 0 || box.right > innerWidth + 1) faults.push(`${title}: lies outside the page`);
      if (!chart.querySelector("polyline, polygon, circle, line")) faults.push(`${title}: draws nothing`);
      for (const mark of chart.querySelectorAll(".mark")) {
        const style = getComputedStyle(mark);
        const own = mark.classList.contains("hollow") ? style.stroke : style.fill;
        const least = mark.classList.contains("grey") ? 1.8 : 3;
        if (contrast(own, paper) < least) { faults.push(`${title}: a mark has too little contrast (${own} on ${paper})`); break; }
      }
      for (const text of chart.querySelectorAll("text")) {
        if (contrast(getComputedStyle(text).fill, paper) < 4.5) { faults.push(`${title}: a word has too little contrast`); break; }
      }
      if (!chart.closest("figure")?.querySelector("table tbody tr")) faults.push(`${title}: no table beside it`);
    }
    for (const element of document.querySelectorAll("p, h1, h2, td, th, a, li, code, summary, caption, figcaption")) {
      if (element.textContent && contrast(getComputedStyle(element).color, paper) < 4.5) {
        faults.push(`too little contrast: ${element.textContent.slice(0, 30)}`);
        break;
      }
    }
    const wide = document.documentElement.scrollWidth;
    if (wide > innerWidth) faults.push(`the page scrolls sideways: ${wide} in ${innerWidth}`);
    return { faults, charts: charts.length, drawn: document.querySelectorAll("figure").length, paper };
  });
  seen.faults.forEach(fault);
  if (seen.charts === 0) fault("no chart");
  if (seen.charts !== seen.drawn) fault(`${seen.charts} charts in ${seen.drawn} figures`);
  papers.set(`${viewport.width}-${colorScheme}`, seen.paper);
  if (screenshots) await tab.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: true });
  console.log(`${name}: ${seen.charts} charts, paper ${seen.paper}`);
  await tab.close();
}
for (const width of [1280, 360]) {
  if (papers.get(`${width}-light`) === papers.get(`${width}-dark`)) faults.push(`${width}: dark is as light as light`);
}
await browser.close();
faults.forEach((fault) => console.error(fault));
process.exit(faults.length ? 1 : 0);
