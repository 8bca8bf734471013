variable "admin_requests_per_minute" {
  description = "The number of exports and imports that one IP address may request per minute."
  type        = number
  nullable    = false
}

variable "instances" {
  description = "Each instance's domains, and its Cloud Run services by the functions' names in the code."
  type        = map(object({ domains = list(string), services = map(string) }))
  nullable    = false
}

variable "region" {
  description = "The region of the Cloud Run services."
  type        = string
  nullable    = false
}

variable "requests_per_minute" {
  description = "The number of requests that one IP address may send per minute."
  type        = number
  nullable    = false
}
