// Runs a function under the Functions Framework. Cloud Functions needs the framework to load the module and to open the
// port. But the framework's Express application parses each body before the function receives the request, and aborts
// requests in flight at SIGTERM. No setting disables this. So the framework receives our own server, and our signal
// handlers replace its handlers (docs/decisions/0001-function-shell.md).

import http from 'node:http';
import type { Server } from 'node:net';
import { http as registerHttp } from '@google-cloud/functions-framework';
import { type Config, readConfig } from '../config.ts';
import { configureLog, log } from '../log.ts';
import type { Application } from './requestListener.ts';
import { createHttpServer, serverUrl } from './server.ts';

export interface FunctionProgram {
  readonly app: Application;
  /** The shell calls this function when the last request has ended, before the process exits. */
  close(): Promise<void>;
}

type CreateProgram = (config: Config) => FunctionProgram | Promise<FunctionProgram>;

const registered = new Map<string, CreateProgram>();

/**
 * Registers a function with the Functions Framework. If the configuration is invalid or `createProgram` fails, the
 * process exits with 1.
 */
export function registerFunction(name: string, createProgram: CreateProgram): void {
  if (registered.has(name)) throw new Error(`the function "${name}" is registered already`);
  if (registered.size === 0) interceptFramework();
  registered.set(name, createProgram);
  registerHttp(name, () => {
    throw new Error('functions-framework no longer creates its server as the function shell expects');
  });
}

// The framework calls `createServer` once, with its Express application, after it has loaded the function's module.
// Intercept this call, and return our own server.
function interceptFramework(): void {
  const intercepted = new Proxy(http.createServer, {
    apply: (original, receiver, args: unknown[]) =>
      isExpressApplication(args.at(-1)) ? createFunctionServer() : Reflect.apply(original, receiver, args),
  });
  Object.defineProperty(http, 'createServer', {
    value: intercepted,
    configurable: true,
    writable: true,
    enumerable: true,
  });
}

function isExpressApplication(listener: unknown): boolean {
  return typeof listener === 'function' && 'handle' in listener && 'set' in listener;
}

function createFunctionServer(): Server {
  const [name, createProgram] = selectFunction();
  const { config, program } = startFunction(name, createProgram);
  const application: Application = { fetch: async (request, env) => (await program).app.fetch(request, env) };
  const { server, drain } = createHttpServer(application, config.limits);
  server.once('listening', () => {
    const before = signalListeners();
    // The framework adds its signal handlers when the server starts to listen. Remove them in the next tick, after all
    // listeners of this event have run.
    process.nextTick(() => {
      const shutDown = async () => {
        const unfinished = await drain(config.shutdownMs);
        await (await program).close();
        return unfinished;
      };
      replaceFrameworkSignals(before, shutDown, config.shutdownMs + CLOSE_MS);
      log.info({ url: serverUrl(server) }, 'listening');
    });
  });
  // The framework calls the server's `setTimeout`, which would change our timeouts. So replace `setTimeout` with a
  // method that does nothing.
  return Object.assign(server, { setTimeout: () => server });
}

function selectFunction(): [string, CreateProgram] {
  const target = process.env.FUNCTION_TARGET;
  const named = target === undefined ? undefined : registered.get(target);
  if (target !== undefined && named !== undefined) return [target, named];
  const [only, ...others] = registered;
  if (only !== undefined && others.length === 0) return only;
  const names = [...registered.keys()].join(', ');
  throw new Error(`FUNCTION_TARGET must be one of the registered functions: ${names}`);
}

function startFunction(
  name: string,
  createProgram: CreateProgram,
): { readonly config: Config; readonly program: Promise<FunctionProgram> } {
  try {
    const config = readConfig(process.env);
    configureLog(config.logLevel, process.stdout, config.storeLocation.projectId);
    const program = Promise.resolve(createProgram(config));
    program.catch((error: unknown) => failStart(name, error));
    return { config, program };
  } catch (error) {
    return failStart(name, error);
  }
}

function failStart(name: string, error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`the function "${name}" cannot start: ${reason}\n`);
  process.exit(1);
}

const terminationSignals = ['SIGTERM', 'SIGINT'] as const;

type Listeners = readonly (readonly NodeJS.SignalsListener[])[];

const signalListeners = (): Listeners => terminationSignals.map((signal) => process.listeners(signal));

// Does nothing if the framework has added no signal handlers, as in tests. Otherwise, adds our handlers before it
// removes the framework's, so that the process always has a handler.
function replaceFrameworkSignals(before: Listeners, drain: () => Promise<number>, limitMs: number): void {
  const added = signalListeners().map((listeners, i) => listeners.filter((listener) => !before[i]?.includes(listener)));
  if (added.flat().length === 0) return;
  shutDownOnSignals(drain, limitMs);
  terminationSignals.forEach((signal, i) => {
    for (const listener of added[i] ?? []) process.off(signal, listener);
  });
}

/**
 * The milliseconds that the program may take to close after the drain. The platform ends a process 10 s after SIGTERM,
 * so the drain and this time together must be shorter.
 */
const CLOSE_MS = 500;

/**
 * At SIGTERM or SIGINT, drains the server and exits with 0. At a second signal, exits with 1 at once.
 * @param drain resolves with the number of aborted requests
 * @param limitMs after this time, the process exits with 1 even if the drain has not ended
 */
function shutDownOnSignals(drain: () => Promise<number>, limitMs: number): void {
  let shuttingDown = false;
  const shutDown = async (signal: string) => {
    if (shuttingDown) process.exit(1);
    shuttingDown = true;
    setTimeout(() => process.exit(1), limitMs);
    log.info({ signal }, 'shutting down');
    const aborted = await drain();
    log[aborted === 0 ? 'info' : 'warn']({ unfinished: aborted }, 'shut down');
    process.exit(0);
  };
  for (const signal of terminationSignals) process.on(signal, shutDown);
}
