import http from 'node:http';
import { http as registerHttp } from '@google-cloud/functions-framework';
import { type Config, readConfig } from '../config.ts';
import { configureLog, log } from '../log.ts';
import type { Application } from './requestListener.ts';
import { endingSignals, serverUrl, shutDownOnSignals } from './serve.ts';
import { createHttpServer } from './server.ts';

type CreateApp = (config: Config) => Application | Promise<Application>;

const registered = new Map<string, CreateApp>();

/**
 * Registers a function with functions-framework, whose own handling of requests is left out: they reach the application
 * with their body unread, and the process drains at SIGTERM (docs/decisions/0001-function-shell.md).
 * A fault of `createApp`, or in the configuration that it is given, ends the process with 1 before it serves anything.
 */
export function registerFunction(name: string, createApp: CreateApp): void {
  if (registered.has(name)) throw new Error(`the function "${name}" is registered already`);
  if (registered.size === 0) interceptFramework();
  registered.set(name, createApp);
  registerHttp(name, () => {
    throw new Error('functions-framework no longer makes its server as the function shell expects');
  });
}

// The framework asks for its server after the function's module was loaded: that one call is answered with our own server.
function interceptFramework(): void {
  const intercepted = new Proxy(http.createServer, {
    apply: (original, receiver, args: unknown[]) =>
      isExpressApplication(args.at(-1)) ? functionServer() : Reflect.apply(original, receiver, args),
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

function functionServer(): http.Server {
  const [name, createApp] = target();
  const { config, app } = start(name, createApp);
  const { server, drain } = createHttpServer({ fetch: async (request, env) => (await app).fetch(request, env) });
  server.once('listening', () => {
    const before = signalListeners();
    // The framework adds its handlers in this same event; they are gone before the event loop turns.
    process.nextTick(() => {
      replaceFrameworkSignals(before, () => drain(config.shutdownMs));
      log.listening(serverUrl(server));
    });
  });
  return server;
}

function target(): [string, CreateApp] {
  const wanted = process.env.FUNCTION_TARGET;
  const named = wanted === undefined ? undefined : registered.get(wanted);
  if (wanted !== undefined && named !== undefined) return [wanted, named];
  const [only, ...others] = registered;
  if (only !== undefined && others.length === 0) return only;
  const names = [...registered.keys()].join(', ');
  throw new Error(`FUNCTION_TARGET must name one of the registered functions: ${names}`);
}

function start(name: string, createApp: CreateApp): { config: Config; app: Promise<Application> } {
  try {
    const config = readConfig(process.env);
    configureLog(config.logLevel);
    const app = Promise.resolve(createApp(config));
    app.catch((fault: unknown) => endStart(name, fault));
    return { config, app };
  } catch (fault) {
    return endStart(name, fault);
  }
}

function endStart(name: string, fault: unknown): never {
  const reason = fault instanceof Error ? fault.message : String(fault);
  process.stderr.write(`the function "${name}" cannot start: ${reason}\n`);
  process.exit(1);
}

type Listeners = readonly (readonly NodeJS.SignalsListener[])[];

const signalListeners = (): Listeners => endingSignals.map((signal) => process.listeners(signal));

// Only the framework's command has handlers: a server made for a test gets none.
// Ours come before the others go, so that a signal never finds the process without one.
function replaceFrameworkSignals(before: Listeners, drain: () => Promise<number>): void {
  const added = signalListeners().map((listeners, i) => listeners.filter((one) => !before[i]?.includes(one)));
  if (added.flat().length === 0) return;
  shutDownOnSignals(drain);
  endingSignals.forEach((signal, i) => {
    for (const listener of added[i] ?? []) process.off(signal, listener);
  });
}
