import { isObject } from '../src/json/json-object.ts';
import { parseJson } from '../src/json/parse-json.ts';

/**
 * The members of a JSON object, and those of the objects in it, whose names are joined: `{"work": {"title": "Emma"}}` has
 * `work` and `work.title`. They are empty for anything else.
 */
export function readMembers(json: Uint8Array): [name: string, value: unknown][] {
  const parsed = parseJson(json);
  return typeof parsed === 'object' && isObject(parsed.value) ? membersOf(parsed.value) : [];
}

/** See {@link readMembers}. */
function membersOf(object: Readonly<Record<string, unknown>>): [name: string, value: unknown][] {
  return Object.entries(object).flatMap(([name, value]) => [
    [name, value],
    ...(isObject(value)
      ? Object.entries(value).map(([inner, its]): [string, unknown] => [`${name}.${inner}`, its])
      : []),
  ]);
}
