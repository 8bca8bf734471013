#!/usr/bin/env node
'use strict';

// The installed `identity` command: `npm run package` copies this file beside the bundle. The system's Node starts it,
// and may be too old to read the bundle.

const { join } = require('node:path');
const { run } = require('../run.cjs');

run(join(__dirname, 'identity.js'), process.argv.slice(2));
