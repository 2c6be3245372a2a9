import type { OperationName } from '@dragoman/protocols/a2e-workflow';

/** The uses of each operation, in the words of people who search for it. */
export const OPERATION_USES: Readonly<Record<OperationName, readonly string[]>> = {
  ApiCall: [
    'Calls an API or website with GET, POST, PUT, PATCH or DELETE and reads its reply.',
    'Sends data to another system, or loads data from it.',
  ],
  FilterData: [
    'Selects rows, records or entries by comparing their fields with values.',
    'Removes what does not fit and leaves the rest.',
  ],
  TransformData: [
    'Sorts a list by a field, ascending or descending.',
    'Groups rows and computes the sum, average, count, minimum or maximum of each group.',
    'Renames or picks columns.',
  ],
  Conditional: ['If this is so, then run these operations, else those.', 'Decides between two ways to go on.'],
  Loop: ['For each element of a list, does the same again.', 'Iterates over rows.'],
  LoadData: ['Reads back a value that an earlier workflow stored under a name.', 'Loads saved results.'],
  StoreData: ['Saves a value to storage, to read it back in a later workflow.', 'Persists results under a name.'],
  Wait: ['Pauses, sleeps or delays the workflow for some time.'],
  CallTool: ['Use a tool, a function or a skill of the server or of an MCP server.'],
  CallAgent: ['Ask another agent, a model or an assistant, and delegate work to it.'],
  AskApproval: ['Asks a person for approval, permission, consent, a decision or input before going on.'],
  RunWorkflow: ['Run, reuse or call a stored workflow, a subroutine or a procedure.'],
  MergeData: ['Combines lists by concatenation, union or intersection, and merges objects deeply.'],
  GetCurrentDateTime: ['The date and time of now, in any time zone and format.'],
  ConvertTimezone: ['Converts a date and time from one time zone to the local time of another place.'],
  DateCalculation: [
    'Computes a date in the future or past by adding or subtracting days, weeks, months, years, hours or minutes.',
  ],
  FormatText: [
    'Writes text from a template with fields.',
    'Makes text upper case, lower case or title case, trims it or replaces words.',
  ],
  ExtractText: ['Pulls parts of a text out with a regular expression, such as numbers, codes or dates.'],
  ValidateData: ['Checks whether a value is a valid email, URL, number, phone number or date.'],
  Calculate: ['Does arithmetic: add, subtract, multiply, divide, power, round, sum, average, maximum, minimum.'],
  EncodeDecode: ['Escapes or unescapes text for links and web pages, and converts to and from base64.'],
};
