'use strict';

// Google's build runs this file of a function's archive as the script `gcp-build`, with the Node that the function will
// have. It starts the function once, so that Node stores the compiled code in the directory NODE_COMPILE_CACHE of the
// image, from which the function's processes read it. Without the compiled code, they only start more slowly. So a
// failure here does not fail the build.

const { spawn } = require('node:child_process');
const { randomBytes } = require('node:crypto');
const { dirname, join } = require('node:path');

const LIMIT_MS = 60_000;
const framework = join(dirname(require.resolve('@google-cloud/functions-framework')), 'main.js');
const env = {
  ...process.env,
  NODE_COMPILE_CACHE: '.compile-cache',
  PORT: '0',
  FIRESTORE_PROJECT: 'build',
  HOSTING: 'load_balancer',
  IDENTITY_MASTER_KEY: randomBytes(32).toString('base64'),
};
const started = spawn(process.execPath, [framework], { env, stdio: ['ignore', 'pipe', 'pipe'] });
const limit = setTimeout(() => started.kill('SIGKILL'), LIMIT_MS);
const stop = () => started.kill();
let output = '';
let isListening = false;
for (const stream of [started.stdout, started.stderr]) {
  stream.setEncoding('utf8').on('data', (text) => {
    output += text;
    const url = /"url":"(http:[^"]+)"/.exec(output)?.[1];
    if (url === undefined || isListening) return;
    isListening = true;
    // Send a request, because only then does the function load the database's client.
    fetch(url).then(stop, stop);
  });
}
started.on('exit', (code) => {
  clearTimeout(limit);
  process.stdout.write(code === 0 ? 'the function is compiled\n' : `the function is not compiled: ${output}\n`);
});
