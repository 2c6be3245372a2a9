import { navigate, withQuery } from '../router.ts';

interface SearchFieldParts {
  readonly label: string;
  readonly value: string | undefined;
}

/** A search field for a list that the server pages. Enter puts the text into the URL. */
export function SearchField({ label, value }: SearchFieldParts) {
  const search = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const text = new FormData(event.currentTarget).get('text');
    navigate(withQuery({ text: String(text ?? ''), cursor: undefined }));
  };
  return (
    <form class="bar" role="search" onSubmit={search}>
      <input type="search" name="text" aria-label={label} placeholder={label} defaultValue={value ?? ''} key={value} />
      <button type="submit">Search</button>
      {value !== undefined && <a href={withQuery({ text: undefined, cursor: undefined })}>Clear</a>}
    </form>
  );
}
