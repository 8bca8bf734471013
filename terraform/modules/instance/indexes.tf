# By default, Firestore indexes every field of every collection, which costs storage and slows each write.
# The service finds documents by id and by `partition` only (docs/decisions/0003-documents-of-the-store.md).

resource "google_firestore_field" "not_indexed" {
  project         = var.project_id
  database        = google_firestore_database.this.name
  collection      = "__default__"
  field           = "*"
  deletion_policy = "ABANDON"

  index_config {}
}

resource "google_firestore_field" "partition" {
  for_each = toset(jsondecode(file("${path.module}/collections.json")))

  project         = var.project_id
  database        = google_firestore_database.this.name
  collection      = each.key
  field           = "partition"
  deletion_policy = "ABANDON"

  index_config {
    indexes {
      order       = "ASCENDING"
      query_scope = "COLLECTION"
    }
  }
}
