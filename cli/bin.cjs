#!/usr/bin/env node
'use strict';

// The installed `identity` command. The system's Node starts it, and may be too old to read TypeScript.

const { join } = require('node:path');
const { run } = require('../run.cjs');

run(join(__dirname, 'identity.ts'), process.argv.slice(2));
