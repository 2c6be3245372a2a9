import { isObject, type Json } from '../../json.ts';
import { pointerTo } from '../../pointer.ts';
import { show } from '../../validation.ts';
import { isOrdered } from '../condition.ts';
import { nameOf } from '../member.ts';
import { about, type Rule } from './rule.ts';

/** A number written as text is compared as text and never matches numbers. */
export const numbersAsText: Rule = ({ operations }) =>
  [...operations.values()].flatMap((operation) => {
    const { condition, conditions } = operation.config;
    const all: [pointer: string, condition: Json | undefined][] = [['/condition', condition]];
    if (Array.isArray(conditions))
      for (const [at, each] of conditions.entries()) all.push([pointerTo('/conditions', at), each]);
    return all.flatMap(([pointer, each]) => {
      if (!isObject(each) || !isOrdered(each)) return [];
      const { value } = each;
      if (typeof value !== 'string' || !NUMBER.test(value)) return [];
      const at = `${pointer}/value`;
      const message = `${nameOf(at)} is the text ${show(value)}: a number never equals a text`;
      return [about(operation, at, { code: 'number_as_text', message, suggestion: `write ${value}, without quotes` })];
    });
  });

const NUMBER = /^-?\d{1,20}(?:\.\d{1,20})?$/;
