// usage: node speedscope-import.mjs BUNDLE FILE
//
// Reads a file with speedscope's own importer and prints what it found, as JSON. The package has nothing but the page's
// bundle, so that is run without a page until it wants one; by then the importer is there.
import fs from "fs";
import vm from "vm";

const bundle = fs.readFileSync(process.argv[2], "utf8");
const importer = bundle.match(/Importing as speedscope json file"\),(\w+)\(/);
if (!importer || !bundle.includes("(()=>{")) {
  console.log("null");
  process.exit(0);
}
const anything = () =>
  new Proxy(function () {}, {
    get: (target, key) => (key === Symbol.toPrimitive ? () => "" : key === "then" ? undefined : anything()),
    apply: anything,
    construct: anything,
    set: () => true,
  });
const page = {
  console: { log() {}, error() {}, warn() {} },
  document: anything(), localStorage: anything(), matchMedia: anything(), fetch: anything(),
  navigator: { userAgent: "" }, location: { hash: "", protocol: "file:", search: "" },
  addEventListener() {}, requestAnimationFrame() {}, HTMLElement: class {}, Element: class {},
  setTimeout, clearTimeout, performance, TextDecoder, TextEncoder, URL,
};
page.window = page.self = page;
vm.createContext(page);
try {
  vm.runInContext(bundle.replace("(()=>{", `(()=>{globalThis.readFile=x=>${importer[1]}(x);`), page);
} catch {
  // no page to draw on
}
const found = page.readFile(JSON.parse(fs.readFileSync(process.argv[3], "utf8")));
const profiles = found.profiles.map((profile) => {
  const frames = {};
  profile.forEachFrame((f) => {
    frames[f.name] = { self: f.getSelfWeight(), total: f.getTotalWeight() };
  });
  return { name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight(), frames };
});
console.log(JSON.stringify(profiles));
