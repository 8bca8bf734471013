'use strict';

// Runs a program with the Node of the lock file: `node tools/run.cjs local/start.ts`. Any Node can start this file, so
// it is plain JavaScript. This program is necessary because only npm 11 puts the locked Node on a script's PATH; npm
// 10, a part of Node 20 and 22, does not. The installed command contains a copy of this file, which starts the command
// with the system's Node. See docs/decisions/0008-runtime-from-the-lock-file.md.

const { spawn } = require('node:child_process');
const { existsSync, realpathSync } = require('node:fs');
const { constants } = require('node:os');
const { delimiter, dirname, join, resolve } = require('node:path');
const { pathToFileURL } = require('node:url');
const { engines } = require('../package.json');

const platform = process.platform === 'win32' ? 'win' : process.platform;
const executable = process.platform === 'win32' ? 'node.exe' : 'node';
const root = dirname(__dirname);
const locked = join(root, 'node_modules', `node-${platform}-${process.arch}`, 'bin', executable);
const STARTED = '--started';
const needed = engines.node.replace('>=', '');
/** How often to check whether npm's shell still runs. */
const SHELL_INTERVAL_MS = 250;
/** The process that started this process. Read its id first, because it can end at any moment. */
const shell = process.ppid;

/** Runs a program with the locked Node. If the platform has none, uses a recent Node of the system. */
function run(file, args, options = []) {
  const missing = options.filter((option) => !process.execArgv.includes(option) && !isInEnvironment(option));
  if (existsSync(locked) && realpathSync(locked) !== process.execPath) runUnder(locked, missing, file, args);
  else if (!isRecent(process.versions.node)) exitTooOld();
  else if (missing.length > 0) runUnder(process.execPath, missing, file, args);
  else runHere(file, args);
}

/**
 * Whether NODE_OPTIONS sets the option. If it does, do not pass the option as an argument, which would override the
 * value in NODE_OPTIONS.
 */
function isInEnvironment(option) {
  const [name] = option.split('=');
  return (process.env.NODE_OPTIONS ?? '').replaceAll('_', '-').includes(`${name}=`);
}

function runHere(file, args) {
  process.argv.splice(1, process.argv.length, resolve(file), ...args);
  void import(pathToFileURL(file).href);
}

function runUnder(node, options, file, args) {
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  const words = [...process.execArgv, ...options, __filename, STARTED, file, ...args];
  // Replace this process instead of starting a child, because a SIGKILL of this process would not end a child. Windows
  // and older Nodes cannot replace a process.
  if (process.execve) process.execve(node, [node, ...words], env);
  const child = spawn(node, words, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  process.on('SIGINT', () => {}); // A terminal sends Ctrl-C to both.
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]));
}

/**
 * Runs a program after `runUnder` has selected the Node. If this process is a child of an older Node, it ends as soon
 * as its parent has ended.
 */
function runStarted(file, args) {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel?.unref();
  runHere(file, args);
}

/**
 * Stops the program when npm's shell has ended: npm sends SIGTERM only to its shell, which does not pass it on. Calls the
 * program's handler instead of sending the signal, because a second signal would interrupt a stop.
 */
function stopWithShell() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    process.emit('SIGTERM', 'SIGTERM');
  }, SHELL_INTERVAL_MS);
  timer.unref();
}

function isRecent(version) {
  const [major, minor] = version.split('.').map(Number);
  const [neededMajor, neededMinor] = needed.split('.').map(Number);
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}

function exitTooOld() {
  const isClone = existsSync(join(root, 'package-lock.json'));
  const remedy = isClone ? ' (on Linux, Windows and Intel Macs, npm ci brings one)' : '';
  process.stderr.write(`Node ${process.versions.node} is too old: install Node ${needed} or later${remedy}\n`);
  process.exit(1);
}

module.exports = { run };

stopWithShell();
if (require.main === module) {
  const [first, ...others] = process.argv.slice(2);
  if (first === STARTED) runStarted(others[0], others.slice(1));
  else run(first, others);
}
