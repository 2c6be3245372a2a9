/** Splits names such as `GetCurrentDateTime` and `/order-lines/{id}` into words. */
export function spelledOut(text: string): string {
  return text.replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').replaceAll(/[_\-./{}]+/g, ' ');
}
