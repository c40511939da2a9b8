// Reads {module, source, configuration, rounds, calls} from standard input; writes the CPU milliseconds a call of each round.
const { text: readAll } = require("node:stream/consumers");

async function main() {
  const { module, source, configuration, rounds, calls } = JSON.parse(await readAll(process.stdin));
  const { favicons } = require(module);
  const figures = [];
  for (let round = 0; round <= rounds; round += 1) {
    const before = process.cpuUsage();
    for (let call = 0; call < calls; call += 1) {
      const { images } = await favicons(Buffer.from(source), configuration);
      if (images.length < 7) throw new Error(`only ${images.length} images`);
    }
    const { user, system } = process.cpuUsage(before);
    if (round > 0) figures.push((user + system) / 1000 / calls);
  }
  process.stdout.write(JSON.stringify(figures));
}

main();
