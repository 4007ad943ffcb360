# Rscript r_files.R COLUMNS.json FILE
arguments <- commandArgs(TRUE)
input <- jsonlite::fromJSON(arguments[1], simplifyVector = FALSE)
path <- arguments[2]
flat <- function(values) sapply(values, function(value) if (is.null(value)) NA else value)
frame_of <- function(columns) {
  values <- lapply(columns, function(column) switch(column$type,
    list = I(column$values), date = as.Date(flat(column$values)), number = as.numeric(flat(column$values)),
    logical = as.logical(flat(column$values)), as.character(flat(column$values))))
  names(values) <- sapply(columns, function(column) column$name)
  data <- as.data.frame(values[sapply(columns, function(column) column$type != "list")], check.names = FALSE, stringsAsFactors = FALSE)
  for (column in columns) if (column$type == "list") data[[column$name]] <- column$values
  data[names(values)]
}
frames <- lapply(input$sheets, frame_of)
data <- frames[[1]]
numbered <- identical(input$extra, "row numbers") && names(frames)[1] == "questions"
marked <- identical(input$encoding, "utf-8-sig")
encoding <- if (marked) "UTF-8-BOM" else toupper(sub("^iso8859", "iso-8859", input$encoding))
as_text <- function(write) {  # iconv of R writes no mark for UTF-8
  connection <- file(path, "wb", encoding = if (marked) "UTF-8" else encoding)
  if (marked) writeBin(as.raw(c(0xef, 0xbb, 0xbf)), path)
  if (marked) { close(connection); connection <- file(path, "ab") }
  write(connection)
  close(connection)
}
switch(paste(input$format, input$writer),
  "csv write.csv" = as_text(function(to) write.csv(data, to, row.names = numbered, eol = input$line_end)),
  "csv write.csv2" = as_text(function(to) write.csv2(data, to, row.names = numbered, eol = input$line_end)),
  "tsv write.table" = as_text(function(to) write.table(data, to, sep = "\t", row.names = numbered, eol = input$line_end)),
  "csv readr" = readr::write_csv(data, path, eol = input$line_end),
  "csv data.table" = data.table::fwrite(data, path, eol = input$line_end, bom = marked),
  "json " = write(jsonlite::toJSON(if (input$layout == "records in an object") list(data = data) else data,
    digits = NA, auto_unbox = TRUE, Date = "ISO8601", null = "null"), path),
  "jsonl " = jsonlite::stream_out(data, file(path, encoding = "UTF-8"), digits = NA, auto_unbox = TRUE, null = "null", verbose = FALSE),
  "xlsx " = openxlsx::write.xlsx(frames, path, rowNames = if (numbered) c(TRUE, rep(FALSE, length(frames) - 1)) else FALSE))
