import { z } from 'zod';
import { calledMethods } from '../../shared/store/firestore/calledMethods.ts';

/** The service of Cloud Firestore, and the methods that the store calls. */
const service = 'google.firestore.v1.Firestore';
const methods: readonly string[] = calledMethods.map((name) => name.charAt(0).toUpperCase() + name.slice(1));

const options = z.record(z.string(), z.unknown()).optional();
const namespace = z.looseObject({
  get nested() {
    return z.record(z.string(), namespace).optional();
  },
  fields: z.record(z.string(), z.looseObject({ type: z.string(), options })).optional(),
  methods: z.record(z.string(), z.looseObject({ requestType: z.string(), responseType: z.string() })).optional(),
});

/** A namespace, message, enum or service in the JSON format of protobufjs. */
type Namespace = z.output<typeof namespace>;

/**
 * Selects the called methods and their messages from the schema that the generated client of Firestore loads. The
 * client builds a codec for each message of its schema, and most messages are for the administration of databases.
 * @param schema the text of a schema in the JSON format of protobufjs
 * @throws Error if the schema lacks a called method
 */
export function selectCalledMessages(schema: string): string {
  const root = namespace.parse(JSON.parse(schema));
  const called = Object.entries(find(root, service)?.methods ?? {}).filter(([name]) => methods.includes(name));
  if (called.length < methods.length) throw new Error(`${service} lacks one of ${methods.join(', ')}`);
  const used = new Set<string>();
  for (const [, { requestType, responseType }] of called)
    for (const type of [requestType, responseType]) addMessage(root, used, service, type);
  const selected = select(root, '', used);
  return JSON.stringify(insert(selected, service.split('.'), { methods: Object.fromEntries(called) }));
}

function find(root: Namespace, name: string): Namespace | undefined {
  return name.split('.').reduce<Namespace | undefined>((parent, part) => parent?.nested?.[part], root);
}

/**
 * Adds a message or enum, and the messages and enums of its fields. A type's name is relative to the scope or to an
 * enclosing scope.
 */
function addMessage(root: Namespace, used: Set<string>, scope: string, type: string): void {
  const name = enclosing(scope)
    .map((outer) => (outer === '' ? type : `${outer}.${type}`))
    .find((candidate) => find(root, candidate) !== undefined);
  // Types such as numbers, texts and bytes have no definition in the schema.
  if (name === undefined || used.has(name)) return;
  used.add(name);
  for (const field of Object.values(find(root, name)?.fields ?? {})) addMessage(root, used, name, field.type);
}

/** Returns the scopes of a name from the inside out: `a.b`, `a` and the root. */
function enclosing(scope: string): string[] {
  const parts = scope.split('.');
  return [...parts.map((_, index) => parts.slice(0, parts.length - index).join('.')), ''];
}

/** Returns a namespace without unused messages. */
function select(from: Namespace, path: string, used: ReadonlySet<string>): Namespace {
  const nested = Object.entries(from.nested ?? {}).flatMap(([name, child]) => {
    const childPath = path === '' ? name : `${path}.${name}`;
    const selected = select(child, childPath, used);
    return used.has(childPath) || selected.nested !== undefined ? [[name, selected] as const] : [];
  });
  const { nested: _, ...own } = from;
  return nested.length === 0 ? own : { ...own, nested: Object.fromEntries(nested) };
}

function insert(into: Namespace, [name = '', ...rest]: readonly string[], added: Namespace): Namespace {
  const child = into.nested?.[name];
  const inserted = rest.length === 0 ? added : insert(child ?? {}, rest, added);
  return { ...into, nested: { ...into.nested, [name]: inserted } };
}
