import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { ScalarFinder } from './scalarFinder.ts';

const LONG: readonly (ScalarType | undefined)[] = [
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
];

const longs = new ScalarFinder((field: DescField) => LONG.includes(field.scalar));

/**
 * Finds integers of 64 bits that stand in JSON as numbers which JavaScript cannot represent exactly, so that parsing has
 * rounded them. As strings, which is what the JSON mapping writes, they are exact.
 * @returns the fields' paths in JSON names
 */
export function inexactIntegers(schema: DescMessage, value: unknown): string[] {
  return longs
    .find(schema, value)
    .filter(({ value }) => typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    .map(({ path }) => path);
}
