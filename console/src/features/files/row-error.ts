import { BOOK_SIZE_MAX, ROW_SIZE_MAX, type RowError } from '../../../../src/formats/row.ts';
import { formatMessage } from '../../language/format.ts';
import { allTexts } from '../../language/texts.ts';

/** Why a row cannot be imported. */
export function explainRowError(error: RowError): string {
  const { rowErrors, columns } = allTexts.value;
  const max = error.kind === 'row-too-long' ? ROW_SIZE_MAX : BOOK_SIZE_MAX;
  const values = error.kind === 'text' ? { field: columns[error.field] } : error;
  return formatMessage(rowErrors[error.kind], { max, ...values });
}
