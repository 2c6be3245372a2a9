import type { E2AFileRef } from '@dragoman/protocols';

/**
 * Files as attachments of a message, with their content in `data:` URIs (E2A §5). Throws if they are too large
 * together.
 */
export async function attachmentsOf(files: readonly File[]): Promise<E2AFileRef[]> {
  const size = files.reduce((all, file) => all + file.size, 0);
  if (size > MOST_BYTES) {
    const got = `${Math.ceil(size / 1024)} KiB`;
    throw new Error(`The files of a message may total at most ${MOST_BYTES / 1024} KiB; these total ${got}.`);
  }
  return Promise.all(
    files.map(async (file) => ({
      uri: await dataUri(file),
      name: file.name,
      mime_type: file.type || 'application/octet-stream',
      size: file.size,
    })),
  );
}

function dataUri(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error(`${file.name} cannot be read.`));
    reader.readAsDataURL(file);
  });
}

/** A message may have 1 MiB, and base64 adds a third to the files. */
const MOST_BYTES = 704 * 1024;
