#!/usr/bin/env node
'use strict';

// The installed `identity` command: `npm run package` copies this file next to the bundle. The system's Node starts it,
// and may be too old to read the bundle.

const { join } = require('node:path');
const { run } = require('../tools/run.cjs');

/** The commands that read or write many records. */
const bulkVerbs = new Set(['serve', 'import', 'export', 'migrate', 'compare', 'inspect']);

/**
 * Without these options, V8 uses twice the memory and is a tenth faster. A function in Google Cloud has the same heap.
 */
const heapOptions = ['--max-semi-space-size=8', '--max-old-space-size=512'];

const args = process.argv.slice(2);
run(join(__dirname, 'identity.js'), args, bulkVerbs.has(args[0]) ? heapOptions : []);
